import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { isLinux } from './launcher-fixture.ts';
import { startLauncherProcess } from './start-launcher-process.ts';

(isLinux ? describe : describe.skip)('confinement: files of a launcher', function () {
  this.timeout(120_000);
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-left-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('the next launcher removes folders of a killed service and keeps those of a living one', async () => {
    const env = { TMPDIR: folder };
    const killed = startLauncherProcess({ mode: 'holds', env });
    expect(await killed.next()).to.have.property('pids');
    killed.process.kill('SIGKILL');
    await killed.ended;
    const living = startLauncherProcess({ mode: 'holds', env });
    expect(await living.next()).to.have.property('pids');
    const own = await readdir(folder);
    const next = startLauncherProcess({ mode: 'posture', env });
    await next.ended;
    const left = await readdir(folder);
    living.process.kill('SIGKILL');
    await living.ended;
    expect(left).to.have.length(1);
    expect(own).to.include.members(left);
  });
});
