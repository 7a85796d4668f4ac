// Package detect turns the reports of an agent's sources into the session's state and the list of its
// prompts. It is pure: values in, values out, and the clock is a parameter. docs/detection.md describes
// the rules for each agent; docs/decisions/one-fold.md says why there is one fold for all sources.
//
//	hook, title, OSC, log, state file, screen ─▶ agent.Driver ─▶ agent.Fact ─▶ Fold.Apply ─▶ Result
//	                                                              clock ─────▶ Fold.Tick  ─▶ Result
//
// A driver reads each source into facts. A fact says that something happened (TurnStarted, Asked), or what
// a source that always shows a state shows now (LevelIs), or what is on the screen (ScreenShows). The driver's
// table (agent.Table) says which source may cause which move of the fold, and how long its report must have
// held. A report that the table doesn't name is evidence for explain and moves nothing.
//
// The Fold keeps (memory.go): the conversation that it follows, the current turn, the open prompts, the last
// failure, and for each source its level and since when. Each call does three things: it takes the fact
// (apply.go), applies the rules that time allows until none changes anything, for at most 4 rounds (settle), and
// puts what changed into a Result (conclude). The state follows from what the fold knows, in one place (judge): exited, else prompt while
// anything is asked, else working during a turn, else error until the next turn, else idle, else starting.
//
//	turn.go, rest.go, levels.go      how a turn starts and ends
//	requests.go, withdraw.go         prompts: opened, joined, closed
//	explained.go                     what a call adds to the prompt that it asks
//	dialogs.go, contests.go          which dialog on the screen belongs to which prompt
//	conversation.go                  which facts are the followed conversation's, and which are foreign
//	doubt.go                         sources that contradict each other follow the slow rule
//	explain.go                       what explain shows; the checkpoint
//
// Invariants:
//
//   - Same facts and times, same results: a recording gives the same states on any machine (detect/replay).
//   - Time doesn't go back. Between two calls Tick is due at Deadline; a late Tick is only late.
//   - A prompt has one id from its opening to its closing, and each is closed once.
//   - A dialog is a prompt's only if it shows all of the prompt's input and nothing else. Otherwise both are
//     prompts, and the dialog's is contested (docs/decisions/answers.md).
//   - A fact of another conversation changes nothing but evidence.
//   - After a restart of the server the fold is frozen (Freeze) while old facts are applied again, because the
//     levels and the screen are newer than they are. Thaw ends that.
//
// A Fold is for one goroutine: the loop of its session, through sessions/track, which also feeds it and calls
// Tick. detect/tail and detect/watch read the files of agents; detect/replay runs recordings.
package detect
