import { BootFailure } from '#kernel';
import type { StorageDriver, StorageDriverDeclaration } from './contract.ts';
import { type StorageLocationConfig, storageVariableOf } from './settings.ts';

/** Opens the driver of a location. @throws BootFailure with the variable to correct. */
export async function openStorageDriver(
  plan: StorageLocationConfig,
  drivers: ReadonlyMap<string, StorageDriverDeclaration>,
): Promise<StorageDriver> {
  const { location, driver } = plan;
  const variable = storageVariableOf(location, 'DRIVER');
  const declaration = drivers.get(driver);
  if (!declaration) {
    throw createBootFailure(
      `the location ${location} is to be kept by the driver ${driver} (${variable}), which no plugin brings`,
      `set ${variable} to one of ${[...drivers.keys()].sort().join(', ')}, or add the plugin that brings ${driver}: third-party packages are not loaded under SAFE_MODE`,
    );
  }
  try {
    return await declaration.open(plan);
  } catch (error) {
    if (error instanceof BootFailure) throw error;
    throw createBootFailure(
      `the location ${location} cannot be opened by the driver ${driver}: ${(error as Error)?.message ?? error}`,
      `correct the settings that begin with ${storageVariableOf(location, '')}`,
      error,
    );
  }
}

const createBootFailure = (reason: string, remedy: string, cause?: unknown) =>
  new BootFailure('@tenon/storage', 'start', reason, { remedy, cause });
