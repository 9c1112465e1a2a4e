import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const script = fileURLToPath(new URL('../../scripts/demo.ts', import.meta.url));

async function demo(env: Record<string, string>): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, [script], {
    cwd: fileURLToPath(new URL('../../', import.meta.url)),
    env: { PATH: process.env.PATH, HOME: process.env.HOME, CONFIG_PATH: '/dev/null', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part) => (output += part));
  const [code] = await once(child, 'close');
  return { code: code as number, output };
}

describe('the demo', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-demo-'));
    // Where root runs the tests, PostgreSQL runs as another user, who has to enter the folder.
    await chmod(folder, 0o711);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('shows five requests with real answers, a nested one as one statement, and may be repeated', async function () {
    this.timeout(180_000);
    for (let time = 1; time <= 2; time++) {
      const { code, output } = await demo({ DATA_PATH: folder });
      expect(code, output).to.equal(0);
      const answers = [...output.matchAll(/^curl .*\n(\d{3}) (.*)$/gm)].map(([, status, body]) => ({
        status: Number(status),
        body: JSON.parse(body as string),
      }));
      expect(answers.map((one) => one.status)).to.deep.equal([403, 200, 403, 200, 200]);
      expect(answers[3]?.body.data[0].album_id.artist_id.name).to.equal('Miles Davis');
      expect(answers[4]?.body.data[0].tracks).to.have.length(2);
      expect(output).to.contain("The database's log shows 1 statement for it:\nselect ");
    }
  });

  it('does not load its tables into a configured database', async () => {
    const { code, output } = await demo({ DB_CONNECTION_STRING: 'postgres://unknown@127.0.0.1:1/none' });
    expect(code).to.equal(1);
    expect(output).to.contain('unset DB_CONNECTION_STRING');
  });
});
