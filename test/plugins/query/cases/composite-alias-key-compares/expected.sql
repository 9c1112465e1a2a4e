select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."film" t1 where (exists (select 1 from "public"."role" t2 where t2."film" = t1."id" and t2."film" = split_part($1::text, ',', 1)::integer and t2."actor" = split_part($1::text, ',', 2)::integer)) order by t1."id" limit 100) r
-- ["2,3"]
