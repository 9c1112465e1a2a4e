import { type ContributionTo, definePlugin, fail } from '#kernel';
import type { health } from '../server/contract.ts';
import { type Location, type StorageDriver, storage, storageDrivers } from './contract.ts';
import { locationCheck } from './health.ts';
import { createLocation } from './location.ts';
import { openDriver } from './open.ts';
import manifest from './package.json' with { type: 'json' };
import { type Config, locationPlans } from './settings.ts';
import { removeAbandoned } from './temporary.ts';

export default definePlugin<Config>({
  manifest,
  register(host) {
    host.define(storageDrivers);
    const plans = locationPlans(host.config);
    const drivers: StorageDriver[] = [];
    const locations = new Map<string, Location>();
    const at = (name: string): Location => {
      const found = locations.get(name);
      if (!found) throw fail('SERVICE_UNAVAILABLE', `there is no storage location ${name}`);
      return found;
    };
    host.provide(storage, { locations: plans.map(({ location }) => location), at });
    for (const { location, threshold } of plans) {
      host.contribute<ContributionTo<typeof health>>(
        'health',
        locationCheck(location, threshold, () => at(location)),
      );
    }

    // Not before the start: what a driver keeps in the database is prepared by then.
    host.onStart(async () => {
      await removeAbandoned();
      const known = host.read(storageDrivers);
      for (const plan of plans) {
        const driver = await openDriver(plan, known);
        drivers.push(driver);
        locations.set(plan.location, createLocation(plan.location, driver));
      }
    });
    host.onStop(async () => {
      locations.clear();
      const closed = await Promise.allSettled(drivers.splice(0).map((driver) => driver.close?.()));
      for (const one of closed) if (one.status === 'rejected') throw one.reason;
    });
  },
});
