import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { keptSecret } from '../../../plugins/auth/secret.ts';

describe('the kept secret', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-secret-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('is made once, for its owner only', async () => {
    const place = join(folder, 'deep', 'data');
    const secret = await keptSecret(place);
    expect(secret).to.match(/^[\w-]{64}$/);
    expect(await keptSecret(place)).to.equal(secret);
    expect((await stat(join(place, 'secret'))).mode & 0o777).to.equal(0o600);
  });

  it('is the same for all who start at the same moment', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => keptSecret(folder)));
    expect(new Set(all).size).to.equal(1);
    expect(await readdir(folder)).to.deep.equal(['secret']);
  });
});
