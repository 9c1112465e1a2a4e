import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeStorageDriverConformance } from '../storage/conformance.ts';
import { openTestLocalDriver } from './test-driver.ts';

describe('storage-local: conformance of the driver', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-uploads-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  describeStorageDriverConformance(() => openTestLocalDriver(folder));
});
