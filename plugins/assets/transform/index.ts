import { fail, type Log } from '#kernel';
import type { InterProcessBus, InterProcessLock } from '../../cluster/contract.ts';
import type { Db } from '../../database/contract.ts';
import type { MediaService } from '../../media/contract.ts';
import type { SettingsService } from '../../settings/contract.ts';
import type { StorageService } from '../../storage/contract.ts';
import type { ImageVariantService } from '../variant.ts';
import { imageFormatOfFile } from './formats.ts';
import { buildImageVariant, createImagePlan } from './image-plan.ts';
import { type ImageTransformConfig, toImageTransformLimits } from './limits.ts';
import { parseTransformRequest } from './parameters.ts';
import { resolveImageTransformParameters } from './presets.ts';
import { createImageVariantSingleFlight } from './single-flight.ts';
import { createImageVariantMaker } from './variant-maker.ts';
import { createVariantReadyNotifications } from './variant-ready-notifications.ts';

export type { ImageTransformConfig } from './limits.ts';

interface VariantDeps {
  readonly config: ImageTransformConfig;
  readonly db: Db;
  readonly log: Log;
  readonly settings: SettingsService;
  readonly storage: Pick<StorageService, 'at' | 'locations'>;
  readonly media: MediaService;
  readonly lock: Pick<InterProcessLock, 'run' | 'attempt'>;
  readonly bus: InterProcessBus;
}

/** Creates the service of variants: images that are made on request (specification, "Asset endpoints"). */
export function createImageVariantService({
  config,
  db,
  log,
  settings,
  storage,
  media,
  lock,
  bus,
}: VariantDeps): ImageVariantService {
  const limits = toImageTransformLimits(config);
  const maxOperations = config.ASSETS_TRANSFORM_MAX_OPERATIONS;
  const maker = createImageVariantMaker({ db, log, media });
  const ensureStored = createImageVariantSingleFlight({
    lock,
    remoteCompletion: createVariantReadyNotifications(bus),
    make: maker.make,
    log,
    maxConcurrent: config.ASSETS_TRANSFORM_MAX_CONCURRENT,
  });

  return {
    async choose(file, query, accept) {
      const request = parseTransformRequest(query, maxOperations);
      if (!request) return { varies: false };
      const parameters = resolveImageTransformParameters(request, await settings.current(), maxOperations);
      const source = imageFormatOfFile(file);
      const plan = source && createImagePlan(parameters, file, source, accept, limits);
      // A file that is sent unchanged varies by `Accept` as well: its bytes may be replaced by an image later.
      const varies = parameters.format === 'auto';
      return plan ? { variant: buildImageVariant(file, plan), varies } : { varies };
    },

    async open(file, variant) {
      const location = storage.at(file.storage);
      const existing = await location.open(variant.name);
      if (existing) return existing;
      const outcome = await ensureStored(location, file, variant);
      if (outcome === 'noImage') return undefined;
      if (outcome !== 'stored') return { size: outcome.length, buffer: outcome };
      const stored = await location.open(variant.name);
      if (!stored) throw fail('FORBIDDEN', `a stored image of the file ${file.id} was removed meanwhile`);
      return stored;
    },

    waitForCleanUp: maker.waitForCleanUp,
  };
}
