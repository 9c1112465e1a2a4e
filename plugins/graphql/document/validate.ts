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
import { assertComparisons } from './comparisons.ts';
import { assertDocumentSize } from './document-size.ts';
import { DocumentFailure } from './failure.ts';
import { assertIntrospectionCost } from './introspection-cost.ts';
import type { DocumentLimits } from './limits.ts';
import { variablePositionsRule } from './variable-positions.ts';

/** A suggestion looks at all names of a type, and there may be thousands: each error takes milliseconds. */
const MAX_ERRORS = 5;

const REPLACED_RULES: readonly ValidationRule[] = [OverlappingFieldsCanBeMergedRule, VariablesInAllowedPositionRule];
const RULES: readonly ValidationRule[] = [
  ...new Set([...specifiedRules, ...recommendedRules].filter((rule) => !REPLACED_RULES.includes(rule))),
  variablePositionsRule,
];

/**
 * Throws a DocumentFailure where the document makes no sense in the schema. How much it asks for is bounded first, by
 * going through it once, since some of GraphQL's own rules take much longer than that.
 */
export function assertValidDocument(document: DocumentNode, schema: GraphQLSchema, limits: DocumentLimits): void {
  const { hasFragmentCycle } = assertDocumentSize(document, limits);
  if (!hasFragmentCycle) {
    assertComparisons(document);
    assertIntrospectionCost(document, schema);
  }
  const rules = limits.introspection ? RULES : [NoSchemaIntrospectionCustomRule, ...RULES];
  assertRules(rules);
  // Last, since it compares fields with each other: now they are known to exist and to have an end.
  assertRules([OverlappingFieldsCanBeMergedRule]);

  function assertRules(rules: readonly ValidationRule[]): void {
    const errors = validate(schema, document, rules, {
      maxErrors: MAX_ERRORS,
      hideSuggestions: !limits.introspection,
    });
    if (errors.length > 0) throw new DocumentFailure('GRAPHQL_VALIDATION_EXCEPTION', errors);
  }
}
