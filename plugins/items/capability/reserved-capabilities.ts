import type { Capability } from '#kernel';
import { authorities, listsWiden } from '#kernel';
import { GRANT_ACCOUNTABILITY_TEXTS, grantAccountabilitySchema } from './grant.ts';

interface FilesGrant {
  readonly accountability: 'user' | 'full-access';
}

/** Capabilities that manifests may declare already and that give nothing yet (conventions, "Capabilities"). */
export const reservedFilesCapability: Capability<FilesGrant, undefined> = {
  name: 'files',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['accountability'],
    properties: { accountability: grantAccountabilitySchema },
  },
  bind: () => undefined,
  describe: ({ accountability }) => authorities('reserves', ['files'], GRANT_ACCOUNTABILITY_TEXTS[accountability]),
  widens: (before, after) =>
    before === undefined || (before.accountability === 'user' && after.accountability === 'full-access'),
};

export const reservedSchemaCapability: Capability<readonly ('read' | 'write')[], undefined> = {
  name: 'schema',
  schema: { type: 'array', minItems: 1, uniqueItems: true, items: { enum: ['read', 'write'] } },
  bind: () => undefined,
  describe: (grant) => authorities('reserves', ['the schema'], [...grant].sort().join(', ')),
  widens: (before, after) => listsWiden(before && { before }, { before: after }),
};
