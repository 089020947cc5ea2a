// Loaded into an instance before anything else: its clock is wrong by TEST_SKEW_MS.
const skew = Number(process.env.TEST_SKEW_MS ?? 0)
const trueNow = Date.now
const TrueDate = Date
globalThis.Date = class extends TrueDate {
  constructor(...args) {
    if (args.length === 0) super(trueNow() + skew)
    else super(...args)
  }

  static now() {
    return trueNow() + skew
  }
}
