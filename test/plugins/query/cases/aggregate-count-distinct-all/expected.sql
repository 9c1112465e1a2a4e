select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select (select row_to_json(x.*) from (select t2.f0 as "*") x) as "countDistinct" from (select count(distinct t1."id") as f0 from "public"."article" t1) t2) r
-- []
