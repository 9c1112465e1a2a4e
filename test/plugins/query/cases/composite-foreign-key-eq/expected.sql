select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."review" t1 where (t1."film_no" = split_part($1::text, ',', 1)::integer and t1."actor_no" = split_part($1::text, ',', 2)::integer) order by t1."id" limit 100) r
-- ["1,2"]
