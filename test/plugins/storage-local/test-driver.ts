import { openLocalStorageDriver } from '../../../plugins/storage-local/driver.ts';
import { prepareStorageRootFolder } from '../../../plugins/storage-local/root.ts';

/** Opens the driver of storage-local with this folder as its root. */
export const openTestLocalDriver = async (folder: string) =>
  openLocalStorageDriver(await prepareStorageRootFolder({ location: 'local', setting: () => folder }, 'nowhere'));
