import { fail } from '#kernel';
import type { ServiceClass } from '../extensions-full/contract.ts';
import type { ImportExportService, ImportSource } from './contract.ts';

type Record = Readonly<{ [name: string]: unknown }>;

/** `ImportService` of code with full authority: `import(collection, mimeType, stream)` answers how many rows were written. */
export const importServiceClass = ({ importRows }: Pick<ImportExportService, 'importRows'>): ServiceClass => ({
  name: 'ImportService',
  methods: {
    import: (caller, [collection, type, bytes]) =>
      importRows(caller, String(collection), {
        type: typeof type === 'string' ? type : undefined,
        bytes: bytes as ImportSource['bytes'],
      }),
  },
});

/** `ExportService`: `exportToFile(collection, query, format, { file })` answers the key that the file will have. */
export const exportServiceClass = ({ exportRows }: Pick<ImportExportService, 'exportRows'>): ServiceClass => ({
  name: 'ExportService',
  methods: {
    async exportToFile(caller, [collection, query = {}, format, options]) {
      if (format !== 'csv' && format !== 'json' && format !== 'xml' && format !== 'yaml')
        throw fail('INVALID_PAYLOAD', 'the format is one of csv, json, xml and yaml');
      const { file } = (options ?? {}) as Record;
      const values = file === undefined ? {} : { file: file as Record };
      return exportRows(caller, String(collection), { query: query as Record, format, ...values });
    },
  },
});
