/**
 * `npm run try:container [-- --checkout <folder> --keep --built]`: builds the Dockerfile with buildah and runs the image with runc, as root on a
 * Debian without a container engine and without a registry of images, and prints seconds and sizes. The base image is replaced by a Debian made
 * of packages, and so it is not tried what the published base image has that this one has not; neither are the network of compose.yaml and its
 * image of PostgreSQL, and AppArmor. The second start is under the rules for system calls that engines have, where this machine has them.
 * `--keep` leaves the folder of the trial for the next one, which takes the image from there with `--built`.
 */
import { chownSync, cpSync, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { freshDatabase } from '../test/support/database.ts';
import { startDatabaseServer } from '../test/support/database-server.ts';
import { findFreePort } from '../test/support/free-port.ts';
import { checkConfinement, checkFileKept, checkService, expect, waitUntilAnswering } from './try-container/checks.ts';
import { startContainer } from './try-container/container.ts';
import {
  BASE_IMAGE,
  buildImage,
  IMAGE,
  imageSize,
  makeBaseImage,
  openImageStore,
  readImageConfig,
} from './try-container/image.ts';
import { assertInstalled, megabytesOf, timed } from './try-container/shell.ts';
import { renderSystemCallRules } from './try-container/system-calls.ts';

const { values } = parseArgs({
  options: {
    checkout: { type: 'string', default: fileURLToPath(new URL('..', import.meta.url)) },
    release: { type: 'string', default: 'bookworm' },
    keep: { type: 'boolean', default: false },
    built: { type: 'boolean', default: false },
  },
});
const checkout = resolve(values.checkout);
assertInstalled(['buildah', 'runc', 'debootstrap']);
const folder = join(tmpdir(), 'tenon-container-trial');
mkdirSync(folder, { recursive: true });
const store = openImageStore(folder);

if (!values.built) {
  await makeBaseImage(store, values.release);
  await buildImage(store, checkout);
}
const config = readImageConfig(store);
console.log(`           ${imageSize(store, BASE_IMAGE)} base image, ${imageSize(store, IMAGE)} with the service`);

const server = await startDatabaseServer();
process.env.TEST_DATABASE_URL = server.url;
const database = await freshDatabase('container');
const volume = join(folder, 'volume');
rmSync(volume, { recursive: true, force: true });
// The volume of the image belongs to its user, as a new volume of an engine does.
const own = (path: string): void => chownSync(path, 10001, 10001);
for (const path of [volume, join(volume, 'extensions')]) {
  mkdirSync(path);
  own(path);
}
cpSync(
  join(checkout, 'extensions/examples/service-extension-hello'),
  join(volume, 'extensions/service-extension-hello'),
  {
    recursive: true,
  },
);
const port = await findFreePort();
const admin = { email: 'admin@example.com', password: 'a long passphrase' };
const environment = {
  PORT: String(port),
  DB_CONNECTION_STRING: database.url,
  SECRET: 'a secret of the trial, and of nothing else',
  ADMIN_EMAIL: admin.email,
  ADMIN_PASSWORD: admin.password,
};
const url = `http://127.0.0.1:${port}`;
const containers: ReturnType<typeof startContainer>[] = [];
try {
  const first = startContainer({ store, config, environment, volume });
  containers.push(first);
  const place = { container: first, config, url, admin };
  await timed('first start, on an empty database, until it answers', () => waitUntilAnswering(url, first));
  checkConfinement(place);
  const id = await checkService(place);
  expect('SIGTERM ends it with 0', String(await timed('stop', () => first.stop())), /^0$/);

  const seccomp = renderSystemCallRules();
  const second = startContainer({ store, config, environment, volume, seccomp });
  containers.push(second);
  const rules = seccomp ? 'under the rules of engines for system calls' : 'without rules for system calls';
  await timed(`second start, ${rules}, until it answers`, () => waitUntilAnswering(url, second));
  await checkFileKept({ ...place, container: second }, id);
  await checkService({ ...place, container: second });
  expect('SIGTERM ends it with 0', String(await timed('stop', () => second.stop())), /^0$/);
  console.log(`           ${megabytesOf(volume)} MB in the volume`);
  console.log('the container files work as far as this machine can try them');
} finally {
  for (const one of containers) if (!one.hasEnded()) await one.stop();
  await database.drop();
  await server.stop();
  if (!values.keep) rmSync(folder, { recursive: true, force: true });
}
