import { openLocalDriver } from '../../../plugins/storage-local/driver.ts';
import { prepareRoot } from '../../../plugins/storage-local/root.ts';

/** Opens the driver of storage-local with this folder as its root. */
export const openTestDriver = async (folder: string) =>
  openLocalDriver(await prepareRoot({ location: 'local', setting: () => folder }, 'nowhere'));
