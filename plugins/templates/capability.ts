import { authorities, type Capability } from '#kernel';
import type { ConfinedCodeHostMethod, RemoteCapabilityMethods } from '../broker/contract.ts';
import { BrokerRefusal } from '../broker/library.ts';
import type { KeyedSemaphores } from '../workers/contract.ts';
import { createKeyedSemaphores } from '../workers/library.ts';
import type { TemplateApi, TemplateDelimiters, TemplateService } from './contract.ts';
import { MAX_DELIMITER_LENGTH } from './limits.ts';

const delimiter = { type: 'string', minLength: 1, maxLength: MAX_DELIMITER_LENGTH } as const;

const renderLiquid: ConfinedCodeHostMethod<TemplateApi> = {
  args: {
    type: 'array',
    minItems: 1,
    items: [
      { type: 'string' },
      { type: ['object', 'null'] },
      {
        type: ['object', 'null'],
        additionalProperties: false,
        properties: {
          delimiters: {
            type: 'object',
            additionalProperties: false,
            properties: { tagLeft: delimiter, tagRight: delimiter, outputLeft: delimiter, outputRight: delimiter },
          },
        },
      },
    ],
    additionalItems: false,
  },
  call(
    api,
    { secrets },
    template: string,
    data?: Record<string, unknown> | null,
    options?: { delimiters?: TemplateDelimiters } | null,
  ) {
    if (secrets.mentionedIn(template) || secrets.mentionedIn(JSON.stringify(data ?? null)))
      throw new BrokerRefusal('denied', 'A secret cannot be part of a template.');
    return api.renderLiquid(template, data ?? {}, options ?? {});
  },
};

/** Templates of one package at a time, including waiting ones, since all packages share few processes. */
const MAX_CONCURRENT = 8;

export const templateRemoteMethods: RemoteCapabilityMethods = { capability: 'template', methods: { renderLiquid } };

const createTemplateSemaphores = (): KeyedSemaphores =>
  createKeyedSemaphores({
    limit: MAX_CONCURRENT,
    queue: 0,
    refuse: () => new BrokerRefusal('rate_limited', `At most ${MAX_CONCURRENT} templates at a time.`),
  });

/** The capability that binds `host.template` (conventions, "template.renderLiquid"). */
export const createTemplateCapability = (
  templates: TemplateService,
  semaphores = createTemplateSemaphores(),
): Capability<boolean, TemplateApi> => ({
  name: 'template',
  member: 'template',
  schema: { type: 'boolean' },
  bind: (grant, { name }) => ({
    async renderLiquid(template, data, options) {
      if (!grant) throw new BrokerRefusal('denied', 'The capability "template" is not granted.');
      return semaphores.run(name, () => templates.render(template, data, options?.delimiters));
    },
  }),
  describe: (grant) => (grant ? authorities('renders', ['templates']) : []),
  widens: (before, after) => after && before !== true,
});
