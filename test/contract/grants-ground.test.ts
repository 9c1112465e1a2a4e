import { describeGrants } from './grants.ts';

describeGrants('ground');
