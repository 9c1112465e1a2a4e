import { declareGrantTests } from './declare-grant-tests.ts';

declareGrantTests('surfaces');
