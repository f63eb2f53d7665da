// Package openai generates responses with any server that speaks OpenAI's chat
// completions: OpenAI itself, Ollama, vLLM, llama.cpp, Groq, OpenRouter and many
// more. [Model] implements [llm.Model].
//
// # What is sent
//
// A conversation is not encoded for each request. Every entry and every toolset
// remembers its wire form; a request's body is a reader over these bytes, so a
// turn late in a long call costs hardly more than the copy into the socket.
// One connection serves all requests that do not overlap.
//
// Calls in the history are made fit for strict servers: arguments that are not a
// JSON object are wrapped as {"invalid_arguments": "what the model wrote"}, since
// some servers refuse a whole conversation because of them, and characters that
// no function may have in its name become underscores.
//
// # What is received
//
// Text is passed on as it comes. Calls are put together from their fragments and
// passed on when the server has said why the model stopped, then the token count,
// then the end. Reasoning and unknown fields are ignored, except that an empty
// [llm.Chunk] is yielded now and then while the model reasons or writes
// arguments, so that its reader can tell a busy model from a stuck one.
//
// Every failure is an [*llm.Error] with a category. Its text is bounded, has no
// control characters, and never holds the API key or the value of a configured
// header. A stream that ends early wraps [llm.ErrCut] and yields no call.
package openai
