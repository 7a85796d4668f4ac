package loop

import "sync"

// Batch is the most output read between two looks at calls and timers; the
// design's figure.
const Batch = 64 << 10

// Buffer holds a batch.
type Buffer = [Batch]byte

// Buffers are shared by all sessions, of which few read at a time.
var Buffers = sync.Pool{New: func() any { return new(Buffer) }}
