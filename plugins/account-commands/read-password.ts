import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { CommandError, UsageError } from './account-command.ts';

/** Bytes: a larger input is the wrong file. */
const MAX_LENGTH = 64 * 1024;

/**
 * Reads a password from a file, else from standard input; on a terminal it is asked for twice, and not shown. It is no argument,
 * since every user of the machine can read the arguments of a process. One line break at the end is left out.
 * @throws UsageError where there is none, CommandError for a file that cannot be read
 */
export async function readPassword(file: string | undefined): Promise<string> {
  const text = file !== undefined && file !== '-' ? await readPasswordFile(file) : await readPasswordInput();
  const password = text.replace(/\r?\n$/, '');
  if (password === '') throw new UsageError('There is no password on standard input or in the file.');
  // A write takes the mask of a password for no change.
  if (/^\*+$/.test(password)) throw new UsageError('The password has only asterisks, like the mask of a password.');
  return password;
}

async function readPasswordFile(file: string): Promise<string> {
  const content = await readFile(file).catch((error: Error) => {
    throw new CommandError(`The password file cannot be read: ${error.message}`);
  });
  return decode(content);
}

async function readPasswordInput(): Promise<string> {
  if (process.stdin.isTTY) return promptTwice();
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of process.stdin) {
    parts.push(part);
    length += part.length;
    if (length > MAX_LENGTH) break;
  }
  return decode(Buffer.concat(parts));
}

function decode(content: Buffer): string {
  if (content.length > MAX_LENGTH) throw new UsageError(`A password has at most ${MAX_LENGTH} bytes.`);
  return content.toString('utf8');
}

async function promptTwice(): Promise<string> {
  const password = await prompt('Password: ');
  if ((await prompt('Password again: ')) !== password) throw new UsageError('The two passwords differ.');
  return password;
}

/** Asks on standard error, so that standard output has nothing but the result. What is typed is not shown. */
async function prompt(question: string): Promise<string> {
  process.stderr.write(question);
  const output = new Writable({ write: (_part, _encoding, done) => done() });
  const line = createInterface({ input: process.stdin, output, terminal: true });
  try {
    return await new Promise<string>((resolve) => {
      // The terminal passes Ctrl+C on as a key, so the process has to interrupt itself.
      line.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
      line.once('close', () => resolve(''));
      line.question('', resolve);
    });
  } finally {
    line.close();
    process.stderr.write('\n');
  }
}
