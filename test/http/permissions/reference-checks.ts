import {
  isRelatedCondition,
  parseCall,
  parseFollow,
  parseManyToAnyName,
  ReferenceConditions,
} from './reference-conditions.ts';
import { type Filter, type Model, Refused } from './reference-types.ts';

/** The part of the in-memory reference that refuses queries with fields which the caller may not read. */
export class ReferenceChecks extends ReferenceConditions {
  /** @throws Refused for a filter with an unreadable field, whether or not the field changes the result */
  assertFilterReadable(collection: string, filter: Filter): void {
    for (const [name, rule] of Object.entries(filter)) {
      if (name === '_and' || name === '_or')
        for (const one of rule as Filter[]) this.assertFilterReadable(collection, one);
      else this.assertRuleReadable(collection, name, rule as Filter);
    }
  }

  private assertRuleReadable(collection: string, name: string, rule: Filter): void {
    const { manyToOne, toMany } = this.model[collection] as Model[string];
    const back = parseFollow(name);
    const any = parseManyToAnyName(name);
    if (back) {
      this.assertCollectionReadable(back.to);
      this.assertReadable(back.to, back.by);
      // `$FOLLOW` needs a foreign key that is readable on all rows of the caller.
      if (!this.of(back.to, 'read').every((one) => this.listsField(one, back.to, back.by))) throw new Refused();
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
      if (word === '_some' || word === '_none') this.assertFilterReadable(to, inner as Filter);
      else if (isRelatedCondition(word)) this.assertFilterReadable(to, { [word]: inner });
    }
  }

  /** Asserts that each field of a path such as `$CURRENT_USER.a.b` in the filter of a request is readable. */
  private assertValuesReadable(rule: Filter): void {
    for (const [operator, operand] of Object.entries(rule)) {
      if (isRelatedCondition(operator) || operator === '_some' || operator === '_none') continue;
      for (const one of Array.isArray(operand) ? operand : [operand]) {
        if (typeof one !== 'string' || !/^\$CURRENT_(USER|ROLE)\./.test(one)) continue;
        const [who, ...path] = one.split('.');
        let at = who === '$CURRENT_USER' ? 'users' : 'roles';
        this.assertCollectionReadable(at);
        for (const [depth, name] of path.entries()) {
          this.assertReadable(at, name);
          const { manyToOne, toMany } = this.model[at] as Model[string];
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
    const { fn, field } = parseCall(name);
    this.assertReadable(collection, field);
    const { plain, toMany } = this.model[collection] as Model[string];
    if (fn && plain[field] === 'masked') throw new Refused();
    if (fn === 'count') this.assertCollectionReadable(toMany[field]?.to as string);
  }

  assertReadable(collection: string, field: string): void {
    if (!this.isReadable(collection, field)) throw new Refused();
  }

  assertCollectionReadable(collection: string): void {
    if (this.of(collection, 'read').length === 0) throw new Refused();
  }
}
