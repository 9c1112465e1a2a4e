import { fail, type Log } from '#kernel';
import type { Bus, Lock } from '../../cluster/contract.ts';
import type { Db } from '../../database/contract.ts';
import type { Media } from '../../media/contract.ts';
import type { Settings } from '../../settings/contract.ts';
import type { Storage } from '../../storage/contract.ts';
import type { VariantService } from '../variant.ts';
import { sourceFormat } from './formats.ts';
import { type TransformConfig, toLimits } from './limits.ts';
import { parseTransformRequest } from './parameters.ts';
import { buildVariant, createPlan } from './plan.ts';
import { resolveParameters } from './presets.ts';
import { createRemoteCompletion } from './remote-completion.ts';
import { createVariantSingleFlight } from './single-flight.ts';
import { createVariantMaker } from './variant-maker.ts';

export type { TransformConfig } from './limits.ts';

interface VariantDeps {
  readonly config: TransformConfig;
  readonly db: Db;
  readonly log: Log;
  readonly settings: Settings;
  readonly storage: Storage;
  readonly media: Media;
  readonly lock: Lock;
  readonly bus: Bus;
}

/** Creates the service of variants: images that are made on request (specification, "Asset endpoints"). */
export function createVariantService({
  config,
  db,
  log,
  settings,
  storage,
  media,
  lock,
  bus,
}: VariantDeps): VariantService {
  const limits = toLimits(config);
  const maxOperations = config.ASSETS_TRANSFORM_MAX_OPERATIONS;
  const maker = createVariantMaker({ db, log, media });
  const ensureStored = createVariantSingleFlight({
    lock,
    remoteCompletion: createRemoteCompletion(bus),
    make: maker.make,
    log,
    maxConcurrent: config.ASSETS_TRANSFORM_MAX_CONCURRENT,
  });

  return {
    async choose(file, query, accept) {
      const request = parseTransformRequest(query, maxOperations);
      if (!request) return { varies: false };
      const parameters = resolveParameters(request, await settings.current(), maxOperations);
      const source = sourceFormat(file);
      const plan = source && createPlan(parameters, file, source, accept, limits);
      // A file that is sent unchanged varies by `Accept` as well: its bytes may be replaced by an image later.
      const varies = parameters.format === 'auto';
      return plan ? { variant: buildVariant(file, plan), varies } : { varies };
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
