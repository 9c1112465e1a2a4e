import type { DoctorCheck, DoctorFinding } from '../doctor/contract.ts';
import type { StorageService } from './contract.ts';
import { createStorageLocationCheck } from './health.ts';
import type { StorageLocationConfig } from './settings.ts';

/**
 * Writes, reads and removes an object in each location. `hasDriver`: whether a loaded plugin has the driver of this name; the command loads
 * no packages.
 */
export const createStorageDoctorCheck = (
  storage: StorageService,
  configs: readonly StorageLocationConfig[],
  hasDriver: (name: string) => boolean,
): DoctorCheck => ({
  name: 'storage',
  run: () =>
    Promise.all(
      configs.map((config) => (hasDriver(config.driver) ? checkLocation(storage, config) : skipLocation(config))),
    ),
});

const skipLocation = ({ location, driver }: StorageLocationConfig): DoctorFinding => ({
  status: 'warn',
  text: `the location ${location} was not looked at: the service has no driver ${driver}, and this command loads no packages`,
  remedy: `look whether a package brings the driver ${driver}, and at the health of the running service`,
});

async function checkLocation(
  storage: StorageService,
  { location, driver, threshold }: StorageLocationConfig,
): Promise<DoctorFinding> {
  try {
    await storage.open([location]);
    const { value } = await createStorageLocationCheck(location, threshold, () => storage.at(location)).check();
    const text = `the location ${location} (${driver}) stores, reads and removes an object in ${value.toFixed(0)} ms`;
    if (value <= threshold) return { status: 'ok', text };
    return { status: 'warn', text, remedy: 'look at the disk or the network of the storage' };
  } catch (error) {
    const { message, remedy } = error as { message: string; remedy?: string };
    return {
      status: 'fail',
      text: `the location ${location} (${driver}) cannot be used: ${message}`,
      remedy: remedy ?? 'correct the settings of the location, or its rights',
    };
  }
}
