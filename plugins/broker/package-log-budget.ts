/** Bytes that one package may log at once, and per second after that. */
const BURST = 1024 * 1024;
const RATE = 128 * 1024;
/** Estimated bytes of a log line beside its text. */
const LINE = 200;

/** Limits the log of one package, so that it neither fills the disk nor buries the entries of other packages. */
export class PackageLogBudget {
  readonly #now: () => number;
  #left = BURST;
  #at: number;
  #isSpent = false;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#at = now();
  }

  /**
   * Takes a line from the budget. Answers `first` for the first of several consecutive lines that are dropped: the caller logs a
   * warning for it.
   */
  spend(characters: number): 'write' | 'drop' | 'first' {
    const now = this.#now();
    this.#left = Math.min(BURST, this.#left + ((now - this.#at) / 1000) * RATE);
    this.#at = now;
    if (this.#left >= characters + LINE) {
      this.#left -= characters + LINE;
      this.#isSpent = false;
      return 'write';
    }
    const answer = this.#isSpent ? 'drop' : 'first';
    this.#isSpent = true;
    return answer;
  }
}
