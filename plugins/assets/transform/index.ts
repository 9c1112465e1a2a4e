import { fail, type Log } from '#kernel';
import type { Bus, Lock } from '../../cluster/contract.ts';
import type { Db } from '../../database/contract.ts';
import type { Media } from '../../media/contract.ts';
import type { Settings } from '../../settings/contract.ts';
import type { Storage } from '../../storage/contract.ts';
import type { Variants } from '../variant.ts';
import { createElsewhere } from './elsewhere.ts';
import { formatOf } from './formats.ts';
import { limitsOf, type TransformConfig } from './limits.ts';
import { createMaker } from './make.ts';
import { createOnce } from './once.ts';
import { readQuery } from './parameters.ts';
import { planOf, variantOf } from './plan.ts';
import { granted } from './presets.ts';

export type { TransformConfig } from './limits.ts';

interface Deps {
  readonly config: TransformConfig;
  readonly db: Db;
  readonly log: Log;
  readonly settings: Settings;
  readonly storage: Storage;
  readonly media: Media;
  readonly lock: Lock;
  readonly bus: Bus;
}

/** Images made on the way (specification, "Asset endpoints"). */
export function createVariants({ config, db, log, settings, storage, media, lock, bus }: Deps): Variants {
  const limits = limitsOf(config);
  const maxOperations = config.ASSETS_TRANSFORM_MAX_OPERATIONS;
  const maker = createMaker({ db, log, media });
  const bring = createOnce({
    lock,
    elsewhere: createElsewhere(bus),
    make: maker.make,
    log,
    most: config.ASSETS_TRANSFORM_MAX_CONCURRENT,
  });

  return {
    async choose(file, query, accept) {
      const asked = readQuery(query, maxOperations);
      if (!asked) return { varies: false };
      const wishes = granted(asked, await settings.current(), maxOperations);
      const source = formatOf(file);
      const plan = source && planOf(wishes, file, source, accept, limits);
      // Said of what is served as it is as well: it may get bytes of another kind one day.
      const varies = wishes.format === 'auto';
      return plan ? { variant: variantOf(file, plan), varies } : { varies };
    },

    async open(file, variant) {
      const location = storage.at(file.storage);
      const there = await location.open(variant.name);
      if (there) return there;
      const made = await bring(location, file, variant);
      if (made === 'noImage') return undefined;
      if (made !== 'there') return { size: made.length, buffer: made };
      const stored = await location.open(variant.name);
      if (!stored) throw fail('FORBIDDEN', `an image made of the file ${file.id} is gone again`);
      return stored;
    },

    tidied: maker.tidied,
  };
}
