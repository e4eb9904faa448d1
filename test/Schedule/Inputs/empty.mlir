// A module without an entry.
module {}
