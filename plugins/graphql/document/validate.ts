import {
  type DocumentNode,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  OverlappingFieldsCanBeMergedRule,
  recommendedRules,
  specifiedRules,
  type ValidationRule,
  VariablesInAllowedPositionRule,
  validate,
} from 'graphql';
import { checkComparisons } from './comparisons.ts';
import { checkExtent } from './extent.ts';
import { DocumentFailure } from './failure.ts';
import { checkIntrospection } from './introspection.ts';
import type { DocumentLimits } from './limits.ts';
import { variablesInPositions } from './variable-positions.ts';

/** A suggestion looks at all names of a type, and there may be thousands: each error takes milliseconds. */
const MAX_ERRORS = 5;

const OTHERWISE: readonly ValidationRule[] = [OverlappingFieldsCanBeMergedRule, VariablesInAllowedPositionRule];
const RULES: readonly ValidationRule[] = [
  ...new Set([...specifiedRules, ...recommendedRules].filter((rule) => !OTHERWISE.includes(rule))),
  variablesInPositions,
];

/**
 * Throws a DocumentFailure where the document makes no sense in the schema. How much it asks for is bounded first, by
 * going through it once, since some of GraphQL's own rules take much longer than that.
 */
export function checkDocument(document: DocumentNode, schema: GraphQLSchema, limits: DocumentLimits): void {
  const { endless } = checkExtent(document, limits);
  if (!endless) {
    checkComparisons(document);
    checkIntrospection(document, schema);
  }
  const own = limits.introspection ? RULES : [NoSchemaIntrospectionCustomRule, ...RULES];
  refuse(own);
  // Last, since it compares fields with each other: now they are known to exist and to have an end.
  refuse([OverlappingFieldsCanBeMergedRule]);

  function refuse(rules: readonly ValidationRule[]): void {
    const errors = validate(schema, document, rules, {
      maxErrors: MAX_ERRORS,
      hideSuggestions: !limits.introspection,
    });
    if (errors.length > 0) throw new DocumentFailure('GRAPHQL_VALIDATION_EXCEPTION', errors);
  }
}
