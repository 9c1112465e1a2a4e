import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import type { MailTransport, OutgoingMail } from '../mail/contract.ts';
import { buildNodemailerMessage, MailDeliveryError, renderOneLine } from '../mail/library.ts';

export interface SendmailOptions {
  readonly path: string;
  readonly newline: 'unix' | 'windows';
  /** Milliseconds after which the program is killed. */
  readonly timeout?: number;
}

const TIMEOUT = 120_000;
/** Characters of the program's messages that are kept for the reason of a failure. */
const MAX_OUTPUT = 2000;
/** Exit codes for which another attempt is useless: usage, data, unknown user or host, permission (sysexits.h). */
const PERMANENT_EXIT_CODES: readonly (number | null)[] = [64, 65, 67, 68, 77];

/** Hands messages to the program `sendmail` of the machine, which has a queue of its own. */
export const createSendmailTransport = ({ path, newline, timeout = TIMEOUT }: SendmailOptions): MailTransport => ({
  async send(mail, signal) {
    const bytes = await buildMessageBytes(mail, newline);
    const args = ['-i', '-f', mail.from.address, '--', ...mail.recipients];
    await runSendmail(path, args, bytes, AbortSignal.any([signal, AbortSignal.timeout(timeout)]));
    return { response: 'taken by sendmail', refused: [] };
  },
  verify: () => assertExecutable(path),
  reach: () => assertExecutable(path),
});

async function assertExecutable(path: string): Promise<void> {
  if (!(await isExecutable(path)))
    throw new Error(`there is no program ${path}; set EMAIL_SENDMAIL_PATH or EMAIL_TRANSPORT`);
}

/** Whether this process may run the file. */
export const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

async function buildMessageBytes(mail: OutgoingMail, newline: SendmailOptions['newline']): Promise<Buffer> {
  const { createTransport } = await import('nodemailer');
  const composer = createTransport({ streamTransport: true, buffer: true, newline });
  const { message } = await composer.sendMail(buildNodemailerMessage(mail));
  return message as Buffer;
}

/** @throws MailDeliveryError where the program cannot be run, is killed, or exits with another code than 0. */
async function runSendmail(path: string, args: readonly string[], input: Buffer, signal: AbortSignal): Promise<void> {
  const child = spawn(path, args, { stdio: ['pipe', 'ignore', 'pipe'], signal, killSignal: 'SIGKILL' });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    output = (output + part).slice(0, MAX_OUTPUT);
  });
  // A program that ends early closes its input. Its exit code says why, and an exit code of 0 would not be true.
  let isCutOff = false;
  child.stdin.on('error', () => {
    isCutOff = true;
  });
  child.stdin.end(input);
  const { code, error } = await new Promise<{ code: number | null; error?: Error }>((resolve) => {
    child.once('error', (reason) => resolve({ code: null, error: reason }));
    child.once('close', (exit) => resolve({ code: exit }));
  });
  if (code === 0 && !isCutOff) return;
  const exit = `it exited with ${code ?? 'a signal'}${isCutOff ? ' before it had read the message' : ''}. ${output}`;
  const why = error ? error.message : exit;
  throw new MailDeliveryError(renderOneLine(`${path} failed: ${why}`), {
    permanent: PERMANENT_EXIT_CODES.includes(code),
    cause: error,
  });
}
