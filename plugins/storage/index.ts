import { type ContributionTo, definePlugin, fail } from '#kernel';
import type { doctorChecks } from '../doctor/contract.ts';
import type { sharedSettings } from '../processes/contract.ts';
import type { health } from '../server/contract.ts';
import { type StorageDriver, type StorageLocation, storage, storageDrivers } from './contract.ts';
import { createStorageDoctorCheck } from './doctor-check.ts';
import { createStorageLocationCheck } from './health.ts';
import { createStorageLocation } from './location.ts';
import { createNotLoadedDriver } from './not-loaded-driver.ts';
import { openStorageDriver } from './open-driver.ts';
import manifest from './package.json' with { type: 'json' };
import { assertKnownLocations, parseStorageLocations, type StorageConfig } from './settings.ts';
import { removeAbandonedTemporaryFiles } from './temporary-files.ts';

export default definePlugin<StorageConfig, { readonly SAFE_MODE: boolean }>({
  manifest,
  register(host) {
    const { config, log } = host;
    const { SAFE_MODE: isSafe } = config;
    host.define(storageDrivers);
    const configs = parseStorageLocations(config);
    const drivers: StorageDriver[] = [];
    const locations = new Map<string, StorageLocation>();
    const at = (name: string): StorageLocation => {
      const found = locations.get(name);
      if (!found) throw fail('SERVICE_UNAVAILABLE', `there is no storage location ${name}`);
      return found;
    };
    async function open(names: readonly string[]): Promise<void> {
      assertKnownLocations(names, configs);
      const known = host.read(storageDrivers);
      for (const plan of configs) {
        if (!names.includes(plan.location) || locations.has(plan.location)) continue;
        const isLoaded = known.has(plan.driver) || !isSafe;
        const driver = isLoaded ? await openStorageDriver(plan, known) : createNotLoadedDriver(plan, log);
        drivers.push(driver);
        locations.set(plan.location, createStorageLocation(plan.location, driver));
      }
    }
    const names = configs.map(({ location }) => location);
    const service = { locations: names, at, open };
    host.provide(storage, service);
    const hasDriver = (name: string) => host.read(storageDrivers).has(name);
    host.contribute<ContributionTo<typeof doctorChecks>>(
      'doctor.checks',
      createStorageDoctorCheck(service, configs, hasDriver),
    );
    for (const { location, threshold } of configs) {
      host.contribute<ContributionTo<typeof health>>(
        'health',
        createStorageLocationCheck(location, threshold, () => at(location)),
      );
    }

    host.contribute<ContributionTo<typeof sharedSettings>>('processes.settings', {
      name: 'STORAGE_LOCATIONS',
      values: () => [configs.map(({ location }) => location).join(',')],
      consequence: 'files that one process stores are unknown to the other',
    });

    // At the start, after migrations: a driver may keep objects in the database.
    host.onStart(async () => {
      await removeAbandonedTemporaryFiles();
      await open(names);
    });
    host.onStop(async () => {
      locations.clear();
      const closed = await Promise.allSettled(drivers.splice(0).map((driver) => driver.close?.()));
      for (const one of closed) if (one.status === 'rejected') throw one.reason;
    });
  },
});
