import { type Capability, Refusal, type RemoteMethod } from '#kernel';
import type { Delimiters, TemplateApi, Templates } from './contract.ts';
import { DELIMITER } from './limits.ts';

const delimiter = { type: 'string', minLength: 1, maxLength: DELIMITER } as const;

const renderLiquid: RemoteMethod<TemplateApi> = {
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
    options?: { delimiters?: Delimiters } | null,
  ) {
    if (secrets.mentionedIn(template) || secrets.mentionedIn(JSON.stringify(data ?? null)))
      throw new Refusal('denied', 'A secret cannot be part of a template.');
    return api.renderLiquid(template, data ?? {}, options ?? {});
  },
};

/** Templates of one package at a time, those that wait included: there are few processes for all packages. */
const MOST = 8;

/** `host.template` (conventions, "template.renderLiquid"). */
export const templateCapability = (
  templates: Templates,
  busy: Map<string, number> = new Map(),
): Capability<boolean, TemplateApi> => ({
  name: 'template',
  member: 'template',
  schema: { type: 'boolean' },
  bind: (grant, { name }) => ({
    async renderLiquid(template, data, options) {
      if (!grant) throw new Refusal('denied', 'The capability "template" is not granted.');
      const others = busy.get(name) ?? 0;
      if (others >= MOST) throw new Refusal('rate_limited', `At most ${MOST} templates at a time.`);
      busy.set(name, others + 1);
      try {
        return await templates.render(template, data, options?.delimiters);
      } finally {
        const left = (busy.get(name) ?? 1) - 1;
        if (left > 0) busy.set(name, left);
        else busy.delete(name);
      }
    },
  }),
  remote: { renderLiquid },
  describe: (grant) => (grant ? ['renders templates'] : []),
  widens: (before, after) => after && before !== true,
});
