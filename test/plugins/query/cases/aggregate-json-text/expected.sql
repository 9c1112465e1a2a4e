select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select (select row_to_json(x.*) from (select t2.f0::text as "price") x) as "max" from (select max(t1."price") as f0 from "public"."book" t1) t2) r
-- []
