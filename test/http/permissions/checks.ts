import { Conditions, called, followed, leads, scoped } from './conditions.ts';
import { type Filter, type Model, Refused } from './shapes.ts';

/** What a caller's own question may speak of: every field on the way and at the end has to be readable. */
export class Checks extends Conditions {
  /** Throws where the filter uses anything the caller may not read, whether or not it would matter. */
  checkFilter(collection: string, filter: Filter): void {
    for (const [name, rule] of Object.entries(filter)) {
      if (name === '_and' || name === '_or') for (const one of rule as Filter[]) this.checkFilter(collection, one);
      else this.checkRule(collection, name, rule as Filter);
    }
  }

  private checkRule(collection: string, name: string, rule: Filter): void {
    const { ones, manys } = this.model[collection] as Model[string];
    const back = followed(name);
    const any = scoped(name);
    if (back) {
      this.open(back.to);
      this.need(back.to, back.by);
      // Where the field counts on some rows only, nothing may be asked by it at all.
      if (!this.of(back.to, 'read').every((one) => this.lists(one, back.to, back.by))) throw new Refused();
    } else if (any) {
      this.need(collection, any.field);
      this.open(any.to);
      this.checkFilter(any.to, rule);
      return;
    } else this.checkUse(collection, name);
    const [operator = ''] = Object.keys(rule);
    const to = back?.to ?? manys[name]?.to ?? ones[name];
    this.checkValues(rule);
    if (!to || !(leads(operator) || this.isMany(collection, name))) return;
    this.open(to);
    for (const [word, inner] of Object.entries(rule)) {
      if (word === '_some' || word === '_none') this.checkFilter(to, inner as Filter);
      else if (leads(word)) this.checkFilter(to, { [word]: inner });
    }
  }

  /** `$CURRENT_USER.a.b` in a caller's own filter: each step has to be readable. */
  private checkValues(rule: Filter): void {
    for (const [operator, operand] of Object.entries(rule)) {
      if (leads(operator) || operator === '_some' || operator === '_none') continue;
      for (const one of Array.isArray(operand) ? operand : [operand]) {
        if (typeof one !== 'string' || !/^\$CURRENT_(USER|ROLE)\./.test(one)) continue;
        const [who, ...path] = one.split('.');
        let at = who === '$CURRENT_USER' ? 'users' : 'roles';
        this.open(at);
        for (const [depth, name] of path.entries()) {
          this.need(at, name);
          const { ones, manys } = this.model[at] as Model[string];
          const to = manys[name]?.to ?? ones[name];
          if (!to || (depth === path.length - 1 && !manys[name])) break;
          this.open(to);
          at = to;
          if (depth === path.length - 1) for (const column of this.model[at]?.key ?? []) this.need(at, column);
        }
      }
    }
  }

  /** A field, or a function of one, that a condition, an order or a group speaks of. */
  checkUse(collection: string, name: string): void {
    const { fn, field } = called(name);
    this.need(collection, field);
    const { plain, manys } = this.model[collection] as Model[string];
    if (fn && plain[field] === 'masked') throw new Refused();
    if (fn === 'count') this.open(manys[field]?.to as string);
  }

  need(collection: string, field: string): void {
    if (!this.readable(collection, field)) throw new Refused();
  }

  open(collection: string): void {
    if (this.of(collection, 'read').length === 0) throw new Refused();
  }
}
