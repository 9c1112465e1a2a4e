/** Milliseconds between two lines. */
const INTERVAL = 5000;

/** Tells on standard error how far a long command is. */
export interface Progress {
  /** A line at once: a step begins. */
  step(text: string): void;
  /** Counts what the current step has done. A line every five seconds tells it. */
  addBytes(bytes: number): void;
  addObject(): void;
  /** What the current step has done so far, for something that is measured from outside. */
  setBytes(bytes: number): void;
}

export function createProgress(print: (line: string) => void, now = () => performance.now()): Progress {
  let step = '';
  let [bytes, objects, last] = [0, 0, now()];
  const tell = () => {
    if (now() - last < INTERVAL) return;
    last = now();
    print(`${step}: ${objects > 0 ? `${objects} objects, ` : ''}${renderBytes(bytes)} so far`);
  };
  return {
    step(text) {
      [step, bytes, objects, last] = [text, 0, 0, now()];
      print(text);
    },
    addBytes(count) {
      bytes += count;
      tell();
    },
    addObject() {
      objects++;
    },
    setBytes(count) {
      bytes = count;
      tell();
    },
  };
}

/** A number of bytes as people write it: `12.3 MB`. */
export function renderBytes(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length - 1, bytes < 1000 ? 0 : Math.floor(Math.log10(bytes) / 3));
  return `${power === 0 ? bytes : (bytes / 1000 ** power).toFixed(1)} ${units[power]}`;
}
