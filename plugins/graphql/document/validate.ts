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
import { GraphqlDocumentFailure } from './failure.ts';
import { assertFieldMergeCost } from './field-merge-cost.ts';
import { assertIntrospectionCost } from './introspection-cost.ts';
import type { GraphqlDocumentLimits } from './limits.ts';
import { assertSelectionSize } from './selection-size.ts';
import { variablePositionsRule } from './variable-positions.ts';

/**
 * Errors that one response reports: the suggestion of a similar name compares all names of a type, possibly thousands,
 * so each error takes milliseconds.
 */
const MAX_ERRORS = 5;

const REPLACED_RULES: readonly ValidationRule[] = [OverlappingFieldsCanBeMergedRule, VariablesInAllowedPositionRule];
const RULES: readonly ValidationRule[] = [
  ...new Set([...specifiedRules, ...recommendedRules].filter((rule) => !REPLACED_RULES.includes(rule))),
  variablePositionsRule,
];

/**
 * Validates a document against a schema. Limits are checked first, in one pass, since some rules of the specification
 * take much longer than that.
 * @throws DocumentFailure
 */
export function assertValidGraphqlDocument(
  document: DocumentNode,
  schema: GraphQLSchema,
  limits: GraphqlDocumentLimits,
): void {
  const { hasFragmentCycle } = assertSelectionSize(document, limits);
  if (!hasFragmentCycle) {
    assertFieldMergeCost(document);
    assertIntrospectionCost(document, schema);
  }
  const rules = limits.introspection ? RULES : [NoSchemaIntrospectionCustomRule, ...RULES];
  assertRules(rules);
  // This rule runs last, since it compares fields with each other: they must exist, without fragment cycles.
  assertRules([OverlappingFieldsCanBeMergedRule]);

  function assertRules(rules: readonly ValidationRule[]): void {
    const errors = validate(schema, document, rules, {
      maxErrors: MAX_ERRORS,
      hideSuggestions: !limits.introspection,
    });
    if (errors.length > 0) throw new GraphqlDocumentFailure('GRAPHQL_VALIDATION_EXCEPTION', errors);
  }
}
