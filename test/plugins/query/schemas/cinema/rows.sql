insert into film values (1, 'first'), (2, 'second'), (3, 'third');
insert into actor values (1, 'Ada'), (2, 'Bo'), (3, 'Cy');
insert into role (film, actor, name, billing) values
  (2, 1, 'hero', 1), (1, 2, 'villain', 2), (1, 1, 'hero', 1), (2, 3, null, 2), (1, 3, 'extra', null);
insert into review (id, film_no, actor_no, score) values
  (1, 1, 2, 5), (2, 1, 2, 3), (3, 2, 1, 4), (4, null, 1, 2), (5, 2, null, 1), (6, null, null, 9), (7, 9, 9, 7);
insert into screening values
  ('a,b', '2022-03-04 05:06:07.123456+00', 10), ('a~1b', '2022-03-04 05:06:07.123456+00', 20),
  ('Big', '2022-03-04 05:06:07.123456+00', 30), ('Big', '2022-03-04 05:06:07.123457+00', 40), ('', 'infinity', 50);
