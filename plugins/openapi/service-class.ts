import type { ServiceClass } from '../extensions-full/contract.ts';
import type { DocumentCache } from './document-cache.ts';

/** `SpecificationService` of code with full authority: `oas.generate()` is the document of the caller. */
export const openApiServiceClass = (documents: Pick<DocumentCache, 'get'>): ServiceClass => ({
  name: 'SpecificationService',
  methods: { 'oas.generate': async (caller) => JSON.parse((await documents.get(caller)).json.toString()) },
});
