package wire_test

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/turnwise/turnwise/transport/websocket/wire"
)

// schema is the protocol's schema, built by hand, for the reference decoder.
func schema(tb testing.TB) protoreflect.MessageDescriptor {
	tb.Helper()
	const (
		u64 = descriptorpb.FieldDescriptorProto_TYPE_UINT64
		u32 = descriptorpb.FieldDescriptorProto_TYPE_UINT32
		str = descriptorpb.FieldDescriptorProto_TYPE_STRING
		raw = descriptorpb.FieldDescriptorProto_TYPE_BYTES
		sub = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
	)
	field := func(name string, number int32, typ descriptorpb.FieldDescriptorProto_Type) *descriptorpb.FieldDescriptorProto {
		return &descriptorpb.FieldDescriptorProto{
			Name: &name, Number: &number, Type: typ.Enum(), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
		}
	}
	message := func(name string, fields ...*descriptorpb.FieldDescriptorProto) *descriptorpb.DescriptorProto {
		return &descriptorpb.DescriptorProto{Name: &name, Field: fields}
	}
	frame := message("Frame")
	frame.OneofDecl = []*descriptorpb.OneofDescriptorProto{{Name: proto.String("frame")}}
	for i, name := range []string{"TextFrame", "AudioRawFrame", "TranscriptionFrame", "MessageFrame", "InterruptionFrame"} {
		f := field("f"+name, int32(i+1), sub)
		f.TypeName, f.OneofIndex = proto.String(".pipecat."+name), proto.Int32(0)
		frame.Field = append(frame.Field, f)
	}
	pts := field("pts", 6, u64)
	pts.Proto3Optional, pts.OneofIndex = proto.Bool(true), proto.Int32(0)
	audio := message("AudioRawFrame", field("id", 1, u64), field("name", 2, str), field("audio", 3, raw),
		field("sample_rate", 4, u32), field("num_channels", 5, u32), pts)
	audio.OneofDecl = []*descriptorpb.OneofDescriptorProto{{Name: proto.String("_pts")}}
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("frames.proto"), Package: proto.String("pipecat"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{
			frame, audio,
			message("TextFrame", field("id", 1, u64), field("name", 2, str), field("text", 3, str)),
			message("TranscriptionFrame", field("id", 1, u64), field("name", 2, str), field("text", 3, str),
				field("user_id", 4, str), field("timestamp", 5, str)),
			message("MessageFrame", field("data", 1, str)),
			message("InterruptionFrame", field("id", 1, u64), field("name", 2, str)),
		},
	}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return file.Messages().ByName("Frame")
}

// FuzzProtobuf compares the codec with the reference implementation: both take the
// same inputs and read the same content.
func FuzzProtobuf(f *testing.F) {
	for _, s := range []string{
		messageFixture, audioFixture, audioFixture + messageFixture, "", "22 03 0a 01 ff", "12 02 28 02 12 03 20 80 7d",
		"0a 05 08 07 1a 01 68", "1a 09 1a 01 68 22 01 75 2a 01 74", "2a 02 08 01", "0c", "22 02 08 05", "12 04 30 ff ff 03",
		"22 07 0a 02 7b 7d 78 80 01", "0b 22 00 0c", "08 ff ff ff ff ff ff ff ff ff ff ff",
	} {
		f.Add(unhex(f, s))
	}
	desc := schema(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := wire.Decode(b)
		want := dynamicpb.NewMessage(desc)
		refErr := proto.Unmarshal(b, want)
		if (err == nil) != (refErr == nil) {
			t.Fatalf("%x: we say %v, the reference says %v", b, err, refErr)
		}
		if err == nil {
			compare(t, b, got, want)
		}
	})
}

func compare(t *testing.T, b []byte, got wire.Frame, want *dynamicpb.Message) {
	t.Helper()
	which := want.WhichOneof(want.Descriptor().Oneofs().ByName("frame"))
	if which == nil {
		if got.Kind != wire.None {
			t.Fatalf("%x: kind %d, the reference has none", b, got.Kind)
		}
		return
	}
	if got.Kind != wire.Kind(which.Number()) {
		t.Fatalf("%x: kind %d, the reference has %d", b, got.Kind, which.Number())
	}
	inner := want.Get(which).Message()
	get := func(name string) protoreflect.Value {
		fd := inner.Descriptor().Fields().ByName(protoreflect.Name(name))
		if fd == nil {
			return protoreflect.ValueOf(nil)
		}
		return inner.Get(fd)
	}
	same := true
	if got.Kind == wire.Message {
		same = string(got.Data) == get("data").String()
	} else {
		same = got.ID == get("id").Uint() && got.Name == get("name").String()
	}
	switch got.Kind {
	case wire.Text:
		same = same && got.Text == get("text").String()
	case wire.Transcription:
		same = same && got.Text == get("text").String() && got.UserID == get("user_id").String() && got.Timestamp == get("timestamp").String()
	case wire.Audio:
		has := inner.Has(inner.Descriptor().Fields().ByName("pts"))
		same = same && bytes.Equal(got.Audio, get("audio").Bytes()) && uint64(got.Rate) == get("sample_rate").Uint() &&
			uint64(got.Channels) == get("num_channels").Uint() && got.HasPTS == has && (!has || got.PTS == get("pts").Uint())
	}
	if !same {
		t.Fatalf("%x: read %+v, the reference %v", b, got, want)
	}
}
