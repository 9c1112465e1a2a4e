select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."book" t1 where (t1."price" = any(array[$1::numeric, $2::numeric])) order by t1."id" limit 100) r
-- [null,"5"]
