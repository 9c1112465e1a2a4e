import { definePlugin, fail } from '#kernel';
import '../database/contract.ts';
import { type PermissionRestricted, permissionRestrictionMarker, type QueryEngine, query } from './contract.ts';
import manifest from './package.json' with { type: 'json' };
import { parseQueryToTree, parseStandaloneFilter } from './parse/parse.ts';
import type { QueryCeilings } from './parse/parse-context.ts';
import { createQueryRunner } from './query-runner.ts';
import { createFieldValueReader } from './read-value.ts';
import { createSlowReadLog } from './slow-log.ts';

interface Config {
  QUERY_LIMIT_DEFAULT: number;
  QUERY_LIMIT_MAX: number;
  MAX_RELATIONAL_DEPTH: number;
  QUERY_MAX_NODES: number;
  QUERY_SLOW_MS: number;
}

export default definePlugin<Config>({
  manifest,
  register(host) {
    const { config } = host;
    // -1 is no limit, so 0 is the only number of the range without a meaning.
    if (config.QUERY_LIMIT_MAX === 0) throw fail('INVALID_CONFIG', 'QUERY_LIMIT_MAX must be -1 or at least 1');
    const ceilings: QueryCeilings = {
      depth: config.MAX_RELATIONAL_DEPTH,
      nodes: config.QUERY_MAX_NODES,
      limitDefault: config.QUERY_LIMIT_DEFAULT,
      limitMax: config.QUERY_LIMIT_MAX,
    };
    host.provide<QueryEngine>(query, {
      ceilings: {
        default: ceilings.limitDefault,
        max: ceilings.limitMax,
        depth: ceilings.depth,
        nodes: ceilings.nodes,
      },
      parse: (collection, raw, options) => parseQueryToTree(collection, raw, options, ceilings),
      parseFilter: (collection, raw, schema, options) =>
        parseStandaloneFilter(collection, raw, schema, ceilings, options?.trusted ?? false),
      ...createQueryRunner(host.db, createSlowReadLog(host.log, config.QUERY_SLOW_MS)),
    });
    host.provide(permissionRestrictionMarker, {
      seal: <T extends object>(tree: T) => tree as PermissionRestricted<T>,
      readValue: createFieldValueReader(host.db),
    });
  },
});
