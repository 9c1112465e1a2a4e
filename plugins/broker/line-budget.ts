/** Bytes of log at once, and per second after that, of one package. */
const BURST = 1024 * 1024;
const RATE = 128 * 1024;
/** What a line is beside its text. */
const LINE = 200;

/** How much one package may write to the log: a stranger does not fill the disk, and nobody else's lines are lost in his. */
export class LineBudget {
  readonly #now: () => number;
  #left = BURST;
  #at: number;
  #isSpent = false;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#at = now();
  }

  /** `first` for the first of the lines that are dropped one after another. */
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
