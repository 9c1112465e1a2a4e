import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLocal } from '../../../plugins/storage-local/driver.ts';
import { prepareRoot } from '../../../plugins/storage-local/root.ts';
import { conformance } from '../storage/conformance.ts';

describe('storage-local: conformance of the driver', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-uploads-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  conformance(async () => openLocal(await prepareRoot({ location: 'local', setting: () => undefined }, folder)));
});
