import { fail } from '#kernel';
import type { ServiceClass } from '../extensions-full/contract.ts';
import { type ExtensionRow, toExtensionInfoRecord } from './records/info-record.ts';

/** `ExtensionsService` of code with full authority: the list of `GET /extensions`, for admins. */
export const extensionsServiceClass = (rows: () => readonly ExtensionRow[]): ServiceClass => ({
  name: 'ExtensionsService',
  methods: {
    async readAll({ admin }) {
      if (!admin) throw fail('FORBIDDEN', 'extensions are for admins only');
      return rows().map(toExtensionInfoRecord);
    },
  },
});
