select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."book" t1 where (exists (select 1 from "public"."label_of" t2 where t2."book" = t1."id" and exists (select 1 from "public"."label" t3 where t3."id" = t2."label" and t3."name" = any($1::text[])))) order by t1."id" limit 100) r
-- [["blue"]]
