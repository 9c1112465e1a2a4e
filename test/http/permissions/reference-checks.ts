import {
  isRelatedCondition,
  parseFollowOperator,
  parseManyToAnyName,
  parseOptionalFunctionCall,
  ReferenceFilterEvaluator,
} from './reference-conditions.ts';
import { type PermissionTestFilter, type PermissionTestModel, ReferenceRefusalError } from './reference-types.ts';

/** The part of the in-memory reference that refuses queries with fields which the caller may not read. */
export class ReferenceReadabilityChecker extends ReferenceFilterEvaluator {
  /** @throws Refused for a filter with an unreadable field, whether or not the field changes the result */
  assertFilterReadable(collection: string, filter: PermissionTestFilter): void {
    for (const [name, rule] of Object.entries(filter)) {
      if (name === '_and' || name === '_or')
        for (const one of rule as PermissionTestFilter[]) this.assertFilterReadable(collection, one);
      else this.assertRuleReadable(collection, name, rule as PermissionTestFilter);
    }
  }

  private assertRuleReadable(collection: string, name: string, rule: PermissionTestFilter): void {
    const { manyToOne, toMany } = this.model[collection] as PermissionTestModel[string];
    const back = parseFollowOperator(name);
    const any = parseManyToAnyName(name);
    if (back) {
      this.assertCollectionReadable(back.to);
      this.assertReadable(back.to, back.by);
      // `$FOLLOW` needs a foreign key that is readable on all rows of the caller.
      if (!this.of(back.to, 'read').every((one) => this.listsField(one, back.to, back.by)))
        throw new ReferenceRefusalError();
    } else if (any) {
      this.assertReadable(collection, any.field);
      this.assertCollectionReadable(any.to);
      this.assertFilterReadable(any.to, rule);
      return;
    } else this.assertFieldReadable(collection, name);
    const [operator = ''] = Object.keys(rule);
    const to = back?.to ?? toMany[name]?.to ?? manyToOne[name];
    this.assertValuesReadable(rule);
    if (!to || !(isRelatedCondition(operator) || this.isMany(collection, name))) return;
    this.assertCollectionReadable(to);
    for (const [word, inner] of Object.entries(rule)) {
      if (word === '_some' || word === '_none') this.assertFilterReadable(to, inner as PermissionTestFilter);
      else if (isRelatedCondition(word)) this.assertFilterReadable(to, { [word]: inner });
    }
  }

  /** Asserts that each field of a path such as `$CURRENT_USER.a.b` in the filter of a request is readable. */
  private assertValuesReadable(rule: PermissionTestFilter): void {
    for (const [operator, operand] of Object.entries(rule)) {
      if (isRelatedCondition(operator) || operator === '_some' || operator === '_none') continue;
      for (const one of Array.isArray(operand) ? operand : [operand]) {
        if (typeof one !== 'string' || !/^\$CURRENT_(USER|ROLE)\./.test(one)) continue;
        const [who, ...path] = one.split('.');
        let at = who === '$CURRENT_USER' ? 'users' : 'roles';
        this.assertCollectionReadable(at);
        for (const [depth, name] of path.entries()) {
          this.assertReadable(at, name);
          const { manyToOne, toMany } = this.model[at] as PermissionTestModel[string];
          const to = toMany[name]?.to ?? manyToOne[name];
          if (!to || (depth === path.length - 1 && !toMany[name])) break;
          this.assertCollectionReadable(to);
          at = to;
          if (depth === path.length - 1)
            for (const column of this.model[at]?.key ?? []) this.assertReadable(at, column);
        }
      }
    }
  }

  /** Asserts that a field in a condition, a sort or a group is readable; `name` may be a function of a field. */
  assertFieldReadable(collection: string, name: string): void {
    const { fn, field } = parseOptionalFunctionCall(name);
    this.assertReadable(collection, field);
    const { plain, toMany } = this.model[collection] as PermissionTestModel[string];
    if (fn && plain[field] === 'masked') throw new ReferenceRefusalError();
    if (fn === 'count') this.assertCollectionReadable(toMany[field]?.to as string);
  }

  assertReadable(collection: string, field: string): void {
    if (!this.isReadable(collection, field)) throw new ReferenceRefusalError();
  }

  assertCollectionReadable(collection: string): void {
    if (this.of(collection, 'read').length === 0) throw new ReferenceRefusalError();
  }
}
