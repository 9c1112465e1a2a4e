import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';

/** One bash process for all blocks of a document, so that variables and functions of a block exist in the next one. */
export class BashSession {
  readonly #bash: ReturnType<typeof spawn>;
  #printed = '';

  constructor(folder: string, environment: NodeJS.ProcessEnv) {
    this.#bash = spawn('bash', ['--noprofile', '--norc'], {
      cwd: folder,
      env: environment,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    for (const stream of [this.#bash.stdout, this.#bash.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#printed += text;
      });
    }
  }

  /** Runs commands and returns what they print to stdout and stderr. @throws Error where the last of them fails. */
  async run(commands: string): Promise<string> {
    const mark = `__end_${Math.random().toString(36).slice(2)}__`;
    this.#printed = '';
    this.#bash.stdin?.write(`${commands}\necho "${mark}$?"\n`);
    const end = new RegExp(`${mark}(\\d+)\\n`);
    for (;;) {
      const found = end.exec(this.#printed);
      if (found) {
        const printed = this.#printed.slice(0, found.index);
        if (found[1] !== '0') throw new Error(`"${commands}" ended with ${found[1]}:\n${printed}`);
        return printed;
      }
      if (this.#bash.exitCode !== null || this.#bash.signalCode !== null)
        throw new Error(`bash ended in "${commands}":\n${this.#printed}`);
      await pause(10);
    }
  }

  close(): void {
    this.#bash.kill();
  }
}
