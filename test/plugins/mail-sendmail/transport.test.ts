import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { OutgoingMail } from '../../../plugins/mail/contract.ts';
import { createSendmailTransport } from '../../../plugins/mail-sendmail/transport.ts';
import { captureError } from '../../support/test-plugins.ts';

const MAIL: OutgoingMail = {
  messageId: '<1@example.com>',
  from: { name: 'Shop', address: 'shop@example.com' },
  to: [{ name: '', address: 'ann@example.com' }],
  cc: [],
  recipients: ['ann@example.com', 'eve@example.com'],
  subject: 'Hello',
  text: 'one\ntwo',
};

describe('mail-sendmail: createSendmailTransport()', function () {
  this.timeout(60_000);
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-sendmail-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** Writes a program that keeps its arguments and input, and then runs `script`. */
  async function putProgram(script: string): Promise<string> {
    const path = join(folder, 'sendmail');
    await writeFile(path, `#!/bin/sh\ncd '${folder}'\nprintf '%s\\n' "$@" > arguments\n${script}\n`);
    await chmod(path, 0o755);
    return path;
  }
  const send = (path: string, options: Partial<Parameters<typeof createSendmailTransport>[0]> = {}) =>
    createSendmailTransport({ path, newline: 'unix', ...options }).send(MAIL, new AbortController().signal);

  it('hands over sender, recipients and message, with the line ends that are set', async () => {
    const path = await putProgram('cat > input');
    for (const newline of ['unix', 'windows'] as const) {
      await send(path, { newline });
      expect((await readFile(join(folder, 'arguments'), 'utf8')).trim().split('\n')).to.deep.equal([
        ...['-i', '-f', 'shop@example.com', '--', 'ann@example.com', 'eve@example.com'],
      ]);
      const input = await readFile(join(folder, 'input'), 'utf8');
      expect(input).to.include('Message-ID: <1@example.com>').and.not.include('eve@');
      expect(/\r\n/.test(input)).to.equal(newline === 'windows');
      expect(/[^\r]\n/.test(input)).to.equal(newline === 'unix');
    }
  });

  it('exit codes say whether another attempt is useless, and the output is part of the reason', async () => {
    for (const [code, permanent] of [
      [75, false],
      [1, false],
      [67, true],
      [65, true],
    ] as const) {
      const error = await captureError(send(await putProgram(`cat > input; echo 'no such user' >&2; exit ${code}`)));
      expect(error).to.include({ permanent });
      expect(error.message).to.include('no such user').and.include(String(code));
    }
  });

  it('a program that is missing, ends before it has read the message, or hangs is a temporary failure', async () => {
    expect(await captureError(send(join(folder, 'nothing')))).to.include({ permanent: false });
    expect(await captureError(send(await putProgram('exit 1')))).to.include({ permanent: false });
    const large = { ...MAIL, text: 'x'.repeat(200_000) };
    const early = createSendmailTransport({ path: await putProgram('exit 0'), newline: 'unix' });
    expect(await captureError(early.send(large, new AbortController().signal))).to.include({ permanent: false });
    const hanging = await putProgram('exec sleep 1000');
    expect(await captureError(send(hanging, { timeout: 300 }))).to.include({ permanent: false });
  });

  it('verify() rejects without the program, with its path', async () => {
    const verify = (path: string) => createSendmailTransport({ path, newline: 'unix' }).verify();
    await verify(await putProgram('exit 0'));
    expect((await captureError(verify(join(folder, 'nothing')))).message).to.include(join(folder, 'nothing'));
  });
});
