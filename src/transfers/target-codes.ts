/** `error_code` of a target: what engines answer, and what Wharf itself says where no engine did. */
export const DONE = 0
export const DOWNLOADING = 115
/** Ended on request. */
export const TERMINATED = 126

export const SOURCE_MISSING = 2001
export const SIGNATURE_MISMATCH = 2002
export const ENGINE_REFUSED = 2003
export const TIMED_OUT = 2004
/** Wharf could not go on, for a reason of its own. */
export const GIVEN_UP = 2005

/** Targets that ended without the engine's word: it may still be at work on them. */
export const ENDED_BY_WHARF = [TERMINATED, TIMED_OUT, GIVEN_UP]
