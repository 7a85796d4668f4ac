package loop

import "sync"

// Batch is the most output, in bytes, that the loop takes in before it looks at calls and timers
// again.
const Batch = 64 << 10

// Buffer holds a batch.
type Buffer = [Batch]byte

// Buffers are shared by all sessions, because few of them read at a time.
var Buffers = sync.Pool{New: func() any { return new(Buffer) }}
