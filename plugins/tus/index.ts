import { definePlugin } from '#kernel';
import { bus, lock } from '../cluster/contract.ts';
import { files } from '../files/contract.ts';
import { routes } from '../http/contract.ts';
import { type ScheduledJobHandle, schedule } from '../schedule/contract.ts';
import { schema, systemCollections } from '../schema/contract.ts';
import { storage } from '../storage/contract.ts';
import { scheduleUploadCleanUp } from './clean-up.ts';
import { uploadPiecesCollection, uploadsCollection } from './collections.ts';
import { createLocker } from './locker.ts';
import manifest from './package.json' with { type: 'json' };
import { tusRoutes } from './routes.ts';
import { createUploadRepository } from './upload-repository.ts';

interface TusConfig {
  readonly TUS_ENABLED: boolean;
  readonly TUS_CHUNK_SIZE: number;
  readonly TUS_UPLOAD_EXPIRATION: number;
  readonly TUS_CLEANUP_SCHEDULE: string;
}

/** Settings of `files` and `http`. */
interface Shared {
  readonly FILES_MAX_UPLOAD_SIZE: number | undefined;
  readonly PUBLIC_URL: string;
}

export default definePlugin<TusConfig, Shared>({
  manifest,
  register(host) {
    const { config, db, log } = host;
    const used = host.use({ bus, files, lock, schedule, schema, storage });
    host.contribute(systemCollections, uploadsCollection);
    host.contribute(systemCollections, uploadPiecesCollection);
    const uploadRecords = createUploadRepository(db, config.TUS_UPLOAD_EXPIRATION);

    // The clean-up also runs with TUS_ENABLED=false: uploads from before must still expire.
    let cleaning: ScheduledJobHandle | undefined;
    host.onStart(() => {
      cleaning = scheduleUploadCleanUp({ ...used, uploads: uploadRecords, log }, config.TUS_CLEANUP_SCHEDULE);
    });
    host.onStop(() => cleaning?.stop());

    if (!config.TUS_ENABLED) return;
    const all = tusRoutes({
      uploads: uploadRecords,
      files: used.files,
      schema: used.schema,
      storage: used.storage,
      locker: createLocker(used.lock, used.bus),
      log,
      pieceSize: config.TUS_CHUNK_SIZE,
      lifetime: config.TUS_UPLOAD_EXPIRATION,
      maxSize: config.FILES_MAX_UPLOAD_SIZE,
      base: new URL(config.PUBLIC_URL, 'http://localhost').pathname.replace(/\/+$/, ''),
    });
    for (const route of all) host.contribute(routes, route);
  },
});
