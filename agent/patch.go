package agent

// Replaces is in the text of a patch that adds or moves a file, for an agent that doesn't ask whether there is one.
const Replaces = "A file that is added or moved replaces one that is there."
