import { randomUUID } from 'node:crypto';
import type { KernelCommand } from '#kernel';
import { composeMail } from './compose-mail.ts';
import type { MailAddress, MailTransport } from './contract.ts';
import { renderOneLine } from './library.ts';
import { parseMailMessage } from './parse-message.ts';
import type { RenderMailContent } from './render-message.ts';

interface Deps {
  readonly from: MailAddress;
  readonly render: RenderMailContent;
  readonly transport: () => MailTransport;
  readonly name: string;
}

const TEXT = '<h1>It works</h1><p>This message was sent by the command mail:test.</p>';

/** `mail:test <address>`: sends one message at once, without the queue, and prints what the server said. */
export const createMailTestCommand = (deps: Deps): KernelCommand => ({
  name: 'mail:test',
  about: 'sends a test message: mail:test <address>',
  needs: 'start',
  check: (args) => (args.length === 1 ? undefined : print('Usage: mail:test <address>', 2)),
  async run([address = '']) {
    try {
      const parsed = await parseMailMessage({ to: address, subject: 'Test message', html: TEXT });
      const mail = await composeMail(deps, randomUUID(), parsed, parsed.recipients);
      const { response, refused } = await deps.transport().send(mail, new AbortController().signal);
      const [no] = refused;
      if (no) return print(`The server refused ${no.address}: ${no.reason}`, 1);
      return print(`Accepted (${deps.name}) for ${parsed.recipients.join(', ')}: ${response}`, 0);
    } catch (error) {
      return print(`The message was not sent (${deps.name}): ${renderOneLine((error as Error).message)}`, 1);
    }
  },
});

function print(line: string, code: number): number {
  (code === 0 ? process.stdout : process.stderr).write(`${line}\n`);
  return code;
}
