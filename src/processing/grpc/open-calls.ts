/** Counts the calls that are being answered. */
export class OpenCalls {
  #open = 0
  #onIdle: (() => void)[] = []

  begin(): void {
    this.#open++
  }

  end(): void {
    this.#open--
    if (this.#open > 0) return
    for (const resolve of this.#onIdle.splice(0)) resolve()
  }

  /** Resolves as soon as no call is under way. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#open === 0) resolve()
      else this.#onIdle.push(resolve)
    })
  }
}
